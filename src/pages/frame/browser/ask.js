// Runs where somebody is asked for a secret.

import './create/expiry.js'
import './create/passphrase.js'
