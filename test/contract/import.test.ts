// A real data folder of Password Pusher 2.11, imported completely from its SQLite file.

import { FIXTURE_DATABASE } from '../support/fixture.ts'
import { fixtureCases } from '../support/fixture-cases.ts'

fixtureCases(async () => FIXTURE_DATABASE)
