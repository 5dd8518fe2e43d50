# rpm/: what rpmbuild makes packages of, from the tarball
EXTRA_DIST += rpm/syncguard.spec
