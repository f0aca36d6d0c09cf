// An import that kills itself at the given durable step: `import-child.ts FOLDER STEP [COPIES]`. Prints the
// number of steps at the end. Copies the data folder at each step into COPIES.

import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { importCommand } from '../../src/app/import-command.ts'
import { wholeMilliseconds } from '../../src/domain/time.ts'
import { listenAtSteps } from '../../src/store/durable-steps.ts'
import { START } from './instance.ts'
import { MASTER_KEY } from './password-pusher.ts'

const [folder = '', killAt = '0', copies] = process.argv.slice(2)
const dataDir = join(folder, 'box')
let steps = 0

listenAtSteps(() => {
  steps += 1
  if (steps === Number(killAt)) process.kill(process.pid, 'SIGKILL')
  if (copies !== undefined && existsSync(dataDir))
    cpSync(dataDir, join(copies, `${steps}`), { recursive: true })
})

await importCommand(
  {
    database: join(folder, 'storage/db/production.sqlite3'),
    sourcePassword: null,
    storage: join(folder, 'storage'),
    masterKeyFile: 'key',
    previousKeysFile: null,
    mode: 'import',
    dataDir,
    keyFile: null,
    ...{ filesUrl: null, s3AccessKeyId: null, s3SecretAccessKey: null },
    ...{ databaseUrl: null, databasePassword: null, databaseConnections: 4 },
    minFreeSpace: 0,
    maxClockGap: Number.MAX_SAFE_INTEGER,
  },
  {
    now: () => START,
    uptime: () => wholeMilliseconds(0),
    readFile: () => MASTER_KEY,
    say: () => undefined,
    onProgress: () => undefined,
  },
)
process.stdout.write(`${steps}\n`)
