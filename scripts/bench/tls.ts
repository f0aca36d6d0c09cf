// Retrieves over TLS on kept connections, beside those over plain http.

import { join } from 'node:path'
import { inTurn, pushesNeeded } from './empty-folder.ts'
import { runLoad } from './load.ts'
import { CONNECTIONS, createsLoad, retrievesLoad } from './loads.ts'
import { startOncebox } from './servers.ts'
import { measureRow, type Served, type Stage } from './stage.ts'
import { targets } from './targets.ts'
import { createTokenList } from './token-list.ts'

export async function measureTls(
  stage: Stage,
  { retrieveShare }: Pick<Served, 'retrieveShare'>,
): Promise<void> {
  const { sandbox, binary, cores } = stage
  const dataDir = join(sandbox.folder, 'data-tls')
  const server = await startOncebox({ sandbox, binary, dataDir, prefix: cores.serverPrefix, isTls: true })
  const tokens = createTokenList()
  const needed = pushesNeeded(stage.seconds)
  const create = createsLoad(server, tokens)
  await runLoad({ ...create, connections: CONNECTIONS, until: { requests: needed } })
  const load = retrievesLoad(server, { tokens, pick: inTurn(tokens.count()) })
  const { result, bareRate } = await measureRow(stage, { what: 'retrieves over TLS', load, target: '' })
  const measured = (result.rate / bareRate / retrieveShare) * 100
  stage.report.judge({
    what: 'retrieves over TLS, of those over plain http',
    measured,
    unit: '%',
    limit: targets.tls,
  })
  await server.stop()
}
