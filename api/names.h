/* names.h - included first when libsyncguard is built: renames functions shared with our programs, so that they do
 * not clash with names in the program that the library is linked into. */
#define control_page_ask    syncguard_private_control_page_ask
#define control_page_asked  syncguard_private_control_page_asked
#define control_page_close  syncguard_private_control_page_close
#define control_page_create syncguard_private_control_page_create
#define control_page_follow syncguard_private_control_page_follow
#define control_page_join   syncguard_private_control_page_join
#define control_page_open   syncguard_private_control_page_open
#define shared_make         syncguard_private_shared_make
#define shared_map          syncguard_private_shared_map
#define shared_path         syncguard_private_shared_path
#define shared_publish      syncguard_private_shared_publish
#define steps_close         syncguard_private_steps_close
#define steps_due           syncguard_private_steps_due
#define steps_figures_get   syncguard_private_steps_figures_get
#define steps_join          syncguard_private_steps_join
#define steps_leave         syncguard_private_steps_leave
#define steps_name_parse    syncguard_private_steps_name_parse
#define steps_notice        syncguard_private_steps_notice
#define steps_open          syncguard_private_steps_open
#define steps_samples       syncguard_private_steps_samples
#define steps_write_begin   syncguard_private_steps_write_begin
#define steps_write_end     syncguard_private_steps_write_end
