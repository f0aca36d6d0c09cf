// The time that the server takes for each page, alone on its core.

import type { Requests } from './loads.ts'
import { getRequest } from './requests.ts'
import { measureRow, type Served, type Stage } from './stage.ts'
import { targets } from './targets.ts'

const SECONDS = 3

/** Opening a page does not count a view, so the pushes stay unchanged. */
export async function measurePages(stage: Stage, { server, tokens }: Served): Promise<void> {
  const packed = Buffer.alloc(tokens.width())
  tokens.copy(0, packed, 0)
  const token = packed.toString()
  const pages = [
    ['page: create', '/'],
    ['page: secret link', `/p/${token}/r`],
    ['page: created, with QR code', `/p/${token}/preview`],
  ] as const
  for (const [what, path] of pages) {
    const request = getRequest(server.port, { path })
    const load: Requests = {
      port: server.port,
      next: () => request,
      accept: (body) => body.includes('</html>'),
    }
    const seconds = Math.min(SECONDS, stage.seconds)
    const { result } = await measureRow({ ...stage, seconds }, { what, load, target: '' })
    // One core works at nothing else, so a page takes what there is of a second for each.
    const measured = 1000 / result.rate
    stage.report.judge({ what: `${what}, time on the server`, measured, unit: 'ms', limit: targets.page })
  }
}
