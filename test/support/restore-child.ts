// A restore that kills itself at the given step: `restore-child.ts FILE FOLDER STEP`. Prints the number of
// steps at the end.

import { restoreBackup } from '../../src/backup/restore.ts'
import { readPath } from '../../src/backup/streams.ts'
import { listenAtSteps } from '../../src/store/durable-steps.ts'
import { START } from './instance.ts'

const [file = '', dataDir = '', killAt = '0'] = process.argv.slice(2)
let steps = 0

listenAtSteps(() => {
  steps += 1
  if (steps === Number(killAt)) process.kill(process.pid, 'SIGKILL')
})

await restoreBackup(
  { file, open: () => readPath(file), dataDir, keyFile: null },
  {
    now: () => START,
    credentials: { identities: [], passphrase: null, askPassphrase: async () => '' },
    onProgress: () => undefined,
    decide: async () => ({ apiTokens: 'keep' }),
  },
)
process.stdout.write(`${steps}\n`)
