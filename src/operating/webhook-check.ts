// What the checks of a server say of the webhooks of the administrators.

import type { OutboxStore } from '../store/notices-face.ts'
import { fine, type Looked, warning } from './health.ts'

/** Of the administrators: those of accounts tell their owners. A database that does not answer is told as the part of that name. */
export async function lookAtWebhooks(outbox: Pick<OutboxStore, 'countOf'>): Promise<Looked> {
  const counts = await outbox.countOf(null).catch(() => null)
  if (counts === null) return null
  return counts.failed === 0
    ? fine(`${counts.waiting} messages wait for the webhooks of the administrators.`)
    : warning(
        `${counts.failed} messages for the webhooks of the administrators were given up in the last seven days.`,
        'See the administration page, and send a test.',
      )
}
