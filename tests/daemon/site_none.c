/* A shared object that is no policy. */
__attribute__((visibility("default"))) int syncguard_something_else = 1;
