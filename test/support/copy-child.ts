// Copies a database as a backup beside its server does: `copy-child.ts SOURCE PATH`.

import { openKeylessCopy } from '../../src/store/sqlite/engine/keyless-copy.ts'

const [source = '', path = ''] = process.argv.slice(2)
const { database, write } = openKeylessCopy({ source, path }, () => new Error('newer'))
write({ isServed: true })
database.close()
