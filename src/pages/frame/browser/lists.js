// Runs in the browser, in the list of an owner.

import './list/days.js'
import './list/selecting.js'
import './list/renewing.js'
