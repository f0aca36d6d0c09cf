// Runs on an owner's list.

import './list/days.js'
import './list/selecting.js'
import './list/renewing.js'
