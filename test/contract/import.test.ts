// A real data folder of a Password Pusher 2.11, imported whole from the SQLite file that it uses.

import { FIXTURE_DATABASE } from '../support/fixture.ts'
import { fixtureCases } from '../support/fixture-cases.ts'

fixtureCases(async () => FIXTURE_DATABASE)
