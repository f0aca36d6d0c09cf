// Runs where a request for a secret is answered.

import './sealed/template.js'
import './create/limits.js'
import './create/files.js'
import './create/sealing.js'
import './create/sending.js'
import './create/leaving.js'
