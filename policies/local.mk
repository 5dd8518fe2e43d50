# policies/: what ships as policy files, and an example of syncguard.conf
policiesdir = $(sysconfdir)/syncguard/policies
dist_policies_DATA = policies/observe.conf policies/balanced.conf
exampledir = $(docdir)/examples
dist_example_DATA = policies/syncguard.conf.example
