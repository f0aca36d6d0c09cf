// How the server is reached: asks one that runs for its checks; for one that does not, tries whether its ports are free. Looks at
// names and proxies.

import { createServer } from 'node:net'
import { codeOf, reasonOf } from '../../domain/system-errors.ts'
import { bindingsOf } from '../../http/door/listener.ts'
import { isUnixHost } from '../../http/door/unix-socket.ts'
import { API, FILES } from '../../http/urls.ts'
import { type Check, type Finding, fine, problem, type Verdict, warning } from '../../operating/health.ts'
import { readServingNote } from '../../store/folder/notes.ts'
import type { Place } from './place.ts'

const PATIENCE_MS = 5_000
const LOOPBACK = /^(localhost|127\..*|::1)$/i

export function createReachChecks(place: Place): Check[] {
  return [
    ...(place.isServed ? [] : [{ part: 'ports', look: () => tryPorts(place) }]),
    ...(place.config.baseUrl === null ? [] : [{ part: 'names', look: () => lookUpName(place) }]),
    { part: 'proxies', look: () => judgeProxies(place) },
  ]
}

/** `findings` are about the server itself, `checks` its own. */
export type Answer = { findings: readonly Finding[]; checks: readonly Finding[] }

/** Nothing when no server holds the folder. */
export async function askServer({ config, isServed, version }: Place): Promise<Answer> {
  if (!isServed) return { findings: [], checks: [] }
  const tell = (part: string, verdict: Verdict): Answer['findings'] => [{ part, ...verdict }]
  try {
    const note = readServingNote(config.dataDir)
    if (note === null) throw new Error('it has not noted where it listens')
    const { origin, protocol, port: written } = new URL(note.url)
    const port = Number(written || (protocol === 'http:' ? 80 : 443))
    const ask = async (path: string): Promise<Record<string, unknown>> => {
      const answer = await fetch(`${note.socket === null ? origin : 'http://localhost'}${path}`, {
        headers: { host: 'localhost' },
        signal: AbortSignal.timeout(PATIENCE_MS),
        // Nothing secret is sent, so the certificate need not be verified.
        tls: { rejectUnauthorized: false },
        ...(note.socket === null ? {} : { unix: note.socket }),
      })
      return Object(await answer.json())
    }
    const runs = String((await ask(API.version.path)).application_version ?? 'unknown')
    const { ready, checks } = await ask(FILES.ready.path)
    const name = note.socket ?? note.url
    const isElsewhere = note.socket === null && config.port !== 0 && port !== config.port
    const asked = warning(
      `The server answers on ${name}, and not on port ${config.port} as the settings here say.`,
      'Give the flags and variables here that the server has.',
    )
    const older = warning(
      `Version ${runs} is running, and this program is ${version}.`,
      'Restart the server.',
    )
    return {
      findings: [
        ...(runs === version ? [] : tell('version', older)),
        ...tell('ports', isElsewhere ? asked : fine(`The server answers on ${name}.`)),
      ],
      checks: Object.entries(Object(checks)).map(([part, word]) => ({
        part,
        ...judge(String(word), ready === true),
      })),
    }
  } catch (cause) {
    const said = `The server of this folder does not answer: ${reasonOf(cause).replace(/\.$/, '')}.`
    return { findings: tell('ports', problem(said, 'See its log, and restart it.')), checks: [] }
  }
}

function judge(word: string, isReady: boolean): Verdict {
  if (word === 'ok') return fine(word)
  return isReady ? warning(word) : problem(word)
}

async function tryPorts({ config, network }: Place): Promise<Verdict> {
  const bindings = await bindingsOf(config.host, network.lookUp)
  const [metricsAddress = '', metricsPort = '0'] =
    /^\[?(.*?)\]?:(\d+)$/.exec(config.metricsListen ?? '')?.slice(1) ?? []
  const wanted = [
    ...bindings.map(({ address }) => ({ address, port: config.port, flag: '--port' })),
    ...bindings.map(({ address }) => ({ address, port: config.httpPort ?? 0, flag: '--http-port' })),
    { address: metricsAddress || '127.0.0.1', port: Number(metricsPort), flag: '--metrics-listen' },
  ].filter(({ address, port }) => port !== 0 && !isUnixHost(address))
  const [taken] = (await Promise.all(wanted.map(tryPort))).filter((found) => found !== null)
  return taken ?? fine(`Port ${config.port} is free; no server runs.`)
}

type Wanted = { address: string; port: number; flag: string }

/** Null for one that is free. */
async function tryPort({ address, port, flag }: Wanted): Promise<Verdict | null> {
  const code = await codeOfListening(address, port)
  // The server skips ::1 on a machine without IPv6.
  if (code === null || (address === '::1' && code !== 'EADDRINUSE')) return null
  const remedy = REMEDIES[code]?.replace('{flag}', flag) ?? `Choose another ${flag}.`
  return problem(`Port ${port} on ${address} cannot be listened on (${code}).`, remedy)
}

const REMEDIES: Record<string, string> = {
  EADDRINUSE: 'Stop the program that uses it, or choose another {flag}.',
  EACCES:
    'Choose a {flag} from 1024 on, or give the program the right: AmbientCapabilities=CAP_NET_BIND_SERVICE in the unit, or setcap cap_net_bind_service=+ep.',
  EADDRNOTAVAIL: 'It is not an address of this machine: correct --host.',
}

function codeOfListening(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (cause) => resolve(codeOf(cause)))
    server.listen({ host, port }, () => server.close(() => resolve(null)))
  })
}

async function lookUpName({ config, network }: Place): Promise<Verdict> {
  const { hostname } = new URL(config.baseUrl ?? '')
  try {
    await network.lookUp(hostname.replace(/^\[|\]$/g, ''))
    return fine(`${hostname} of --base-url has an address.`)
  } catch {
    const said = `The name ${hostname} of --base-url has no address here: links would lead nowhere.`
    return warning(said, 'Enter it in the DNS or the hosts file, or correct --base-url.')
  }
}

function judgeProxies({ config: { baseUrl, trustedProxies, tls, host } }: Place): Verdict {
  const anybody = trustedProxies.find((network) => /\/0$/.test(network))
  if (anybody !== undefined)
    return problem(
      `--trusted-proxy ${anybody} believes everybody who says where a request came from.`,
      'Name the addresses of your proxies alone.',
    )
  const isLocal = LOOPBACK.test(host) || isUnixHost(host)
  const isPublic = baseUrl !== null && !LOOPBACK.test(new URL(baseUrl).hostname)
  if (isLocal && isPublic && trustedProxies.length === 0)
    return warning(
      'The base URL is public and the server listens here alone, but no proxy is declared: everybody counts as one client.',
      `Start with --trusted-proxy ${isUnixHost(host) ? 'unix' : '127.0.0.1'}, or with the address of your proxy.`,
    )
  if (!isLocal && tls === 'off' && !baseUrl?.startsWith('https:'))
    return warning(
      'The network can read what is sent: there is no TLS.',
      'Use --lan or --tls, or put a proxy with TLS in front and name it in --base-url.',
    )
  return fine(trustedProxies.length === 0 ? 'None is needed.' : `Trusted: ${trustedProxies.join(', ')}.`)
}
