// Defines what @peculiar/x509 needs while it is imported. A file of its own: the bundler runs a script's own imports of this
// kind after those of modules.

import 'reflect-metadata'
