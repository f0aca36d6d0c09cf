// What a started server prints on standard output: where to open it, how others reach it, and where its data is.

import type { RunningServer } from '../app.ts'

/** How the first administrator is made: by a link, one in a file, or a command. */
export type Setup = { link: string } | { file: string } | { command: string }

export type Ready = Pick<
  RunningServer,
  'url' | 'hereUrl' | 'elsewhere' | 'baseUrl' | 'dataDir' | 'database' | 'trust'
> & {
  /** Null when there is an administrator. */
  setup: Setup | null
}

/** The links that make the first administrator, the one for this computer first; none when there is one already. */
export function setupLinks({ baseUrl, hereUrl, elsewhere, setupPath }: RunningServer): string[] {
  if (setupPath === null) return []
  const starts = baseUrl === null ? [...new Set([hereUrl, ...elsewhere])] : [baseUrl]
  return starts.map((start) => `${start}${setupPath}`)
}

/** A line for each thing, for people. The first address is the one that the server listens on, as `--host` spells it. */
export function readyLines(ready: Ready): string[] {
  const { url, hereUrl, baseUrl, dataDir, database, setup, trust } = ready
  const here = hereUrl === url ? '' : ` (on this computer: ${hereUrl})`
  const links = baseUrl === null ? '' : `, links start with ${baseUrl}`
  const lines = [
    ['Open:', `${url}${here}${links}`],
    ['From other computers:', fromElsewhere(ready)],
    ...(setup === null ? [] : [['Make the administrator:', presentSetup(setup)]]),
    ...(database === null ? [] : [['Database:', database]]),
    ['Data:', dataDir],
    ...(trust === null ? [] : presentTrust(trust)),
  ]
  return lines.map(([label = '', text]) => `${label.padEnd(LABEL_WIDTH)} ${text}`)
}

const LABEL_WIDTH = 'Make the administrator:'.length

function fromElsewhere({ url, hereUrl, baseUrl, elsewhere }: Ready): string {
  if (baseUrl !== null) return baseUrl
  if (elsewhere.length > 0) return elsewhere.join(' or ')
  if (url === hereUrl) return 'not yet; "oncebox serve --host 0.0.0.0" serves the whole network'
  return 'this computer has no network address at the moment'
}

function presentTrust({ fingerprint, pages }: NonNullable<Ready['trust']>): string[][] {
  return [
    ['Trust it, once each:', `${pages[0]} (or "oncebox trust" there)`],
    ['Compare fingerprint:', fingerprint],
  ]
}

function presentSetup(setup: Setup): string {
  if ('link' in setup) return `${setup.link} (works once)`
  return 'file' in setup ? `the link is in ${setup.file} (works once)` : `"${setup.command}"`
}

/** The same as one line of JSON, in the form of the log. */
export function readyJson(ready: Ready, { version, now }: { version: string; now: () => number }): string {
  const { url, hereUrl, elsewhere, baseUrl, dataDir, database, setup, trust } = ready
  return JSON.stringify({
    ...{ level: 'info', time: new Date(now()).toISOString(), version },
    ...{ url, here: hereUrl, elsewhere, baseUrl, setup, dataDir, database: database ?? undefined, trust },
    msg: `Oncebox ${version} is ready on ${url}`,
  })
}
