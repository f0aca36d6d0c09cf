// A server's start that kills itself at the given step: `home-child.ts FOLDER STEP`. It is killed after the
// start unless the step is one of the start's change of the mark, or `clean end`.

import { listenAtSteps } from '../../src/store/durable-steps.ts'
import { openTestStore } from './store.ts'

const [dataDir = '', killAt = ''] = process.argv.slice(2)

function kill(): void {
  process.kill(process.pid, 'SIGKILL')
}

listenAtSteps((step) => {
  if (step === killAt) kill()
})
const { store } = await openTestStore({ dataDir })
if (killAt === 'clean end') await store.close()
kill()
