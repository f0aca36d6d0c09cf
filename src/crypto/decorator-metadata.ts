// Defines the metadata functions that @peculiar/x509 calls while it is imported. It is a file of its own
// because the bundler orders imports of our own files, but runs a side-effect import of a package after other
// packages.

import 'reflect-metadata'
