// Defines the metadata functions that @peculiar/x509 calls while it is imported. In its own file, because the
// bundler orders imports of our files, but runs a side-effect import of a package after other packages.

import 'reflect-metadata'
