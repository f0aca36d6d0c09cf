// Runs where a push is created.

import './sealed/template.js'
import './create/sent-once.js'
import './create/content.js'
import './create/expiry.js'
import './create/limits.js'
import './create/files.js'
import './create/sealing.js'
import './create/sending.js'
import './create/leaving.js'
import './create/passphrase.js'
import './create/generator.js'
import './create/card.js'
