// A server's start that kills itself at the given step: `home-child.ts FOLDER STEP`. The step is one of
// changing the mark, or `clean end`; otherwise it is killed after the start.

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
