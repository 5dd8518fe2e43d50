# policies/: the shipped policy files, an example of syncguard.conf and of a site's own policy
policiesdir = $(pkgdatadir)/policies
dist_policies_DATA = policies/observe.conf policies/balanced.conf policies/throughput.conf policies/energy.conf \
	policies/large-train.conf
exampledir = $(docdir)/examples
dist_example_DATA = policies/syncguard.conf.example policies/site_example.c
# What a site compiles its own policy with, and one
sitedir = $(includedir)/syncguard
site_HEADERS = policies/site.h
check_LTLIBRARIES += policies/site_example.la
policies_site_example_la_SOURCES = policies/site_example.c policies/site.h
policies_site_example_la_CFLAGS = $(GUEST_CFLAGS)
policies_site_example_la_LDFLAGS = -module -avoid-version -rpath /nowhere
