# debian/: Debian's packages; dpkg-buildpackage makes them
EXTRA_DIST += debian/changelog debian/control debian/copyright debian/libsyncguard-dev.install debian/libsyncguard0.install \
	debian/python3-syncguard.install debian/rules debian/source/format debian/syncguard-common.dirs debian/syncguard-common.docs \
	debian/syncguard-common.install debian/syncguard-controller.install debian/syncguard-controller.logrotate \
	debian/syncguard-controller.postinst debian/syncguard-controller.postrm debian/syncguard-controller.prerm debian/syncguard-node.install debian/syncguard-node.lintian-overrides debian/syncguard.install \
	debian/syncguard.lintian-overrides
