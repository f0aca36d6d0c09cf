// Checks how the server is reached: addresses, ports, names and proxies. Sends requests to a running server; for a stopped one
// tries whether its ports are free.

import { createServer } from 'node:net'
import { codeOf, reasonOf } from '../../domain/system-errors.ts'
import { type Binding, bindingsOf, type Network } from '../../http/door/listener.ts'
import { isUnixHost, socketPath } from '../../http/door/unix-socket.ts'
import { API, FILES } from '../../http/urls.ts'
import type { Config } from '../../settings/table.ts'
import { readServingNote } from '../../store/folder/serving-note.ts'
import { type Finding, fine, problem, warning } from './finding.ts'

const PATIENCE_MS = 5_000
const LOOPBACK = /^(localhost|127\..*|::1)$/i

export type ReachOptions = { config: Config; network: Network; isServed: boolean; version: string }

export async function examineReach(options: ReachOptions): Promise<Finding[]> {
  const { config, network, isServed } = options
  let bindings: Binding[]
  try {
    bindings = await bindingsOf(config.host, network.lookUp)
  } catch (cause) {
    return [problem('names', reasonOf(cause), 'Correct --host.')]
  }
  const ports = isServed ? await askServer(options, bindings) : await tryPorts(config, bindings)
  return [...ports, ...(await examineBaseUrl(config, network)), ...examineProxies(config)]
}

/** The address at which this machine reaches a listening address: loopback for an unspecified one. */
function hereOf(address: string): string {
  const here = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address
  return here.includes(':') ? `[${here}]` : here
}

type Place = { start: string; socket: string | null; name: string }

/** Where the settings say that the server listens. */
function configuredPlace(config: Config, [first]: readonly Binding[]): Place | null {
  if (first === undefined) return null
  const { address } = first
  if (isUnixHost(address)) return { start: 'http://localhost', socket: socketPath(address), name: address }
  const scheme = config.tls === 'off' ? 'http' : 'https'
  const start = `${scheme}://${hereOf(address)}:${config.port}`
  return { start, socket: null, name: `${address}, port ${config.port}` }
}

/** Where the server has noted that it listens; null without a note, and when the settings say the same. */
function notedPlace({ dataDir, port }: Config, configured: Place): Place | null {
  const note = readServingNote(dataDir)
  if (note === null) return null
  const { protocol, host, port: noted } = new URL(note.url)
  const isSame =
    note.socket === configured.socket &&
    (note.socket !== null || Number(noted || DEFAULT_PORTS[protocol]) === port)
  if (isSame) return null
  return { start: `${protocol}//${host}`, socket: note.socket, name: note.socket ?? note.url }
}

const DEFAULT_PORTS: Record<string, string> = { 'http:': '80', 'https:': '443' }

async function askServer(
  { config, version }: ReachOptions,
  bindings: readonly Binding[],
): Promise<Finding[]> {
  const configured = configuredPlace(config, bindings)
  if (configured === null) return []
  const noted = notedPlace(config, configured)
  const { start, socket, name } = noted ?? configured
  const ask = (path: string) =>
    fetch(`${start}${path}`, {
      headers: { host: 'localhost' },
      signal: AbortSignal.timeout(PATIENCE_MS),
      // Nothing secret is sent, so the certificate need not be verified.
      tls: { rejectUnauthorized: false },
      ...(socket === null ? {} : { unix: socket }),
    })
  try {
    const facts = (await (await ask(API.version.path)).json()) as { application_version?: unknown }
    const runs = String(facts.application_version ?? 'unknown')
    return [
      ...describeVersion(runs, version),
      ...(await readChecks(ask)),
      ...(noted === null || config.port === 0 ? [] : [describeOther(name, configured)]),
      fine('ports', `The server answers on ${name}.`),
    ]
  } catch (cause) {
    const remedy =
      'Give the flags and variables here that the server has; if it hangs, see its log and restart it.'
    return [
      problem('ports', `The server of this folder does not answer on ${name}: ${reasonOf(cause)}.`, remedy),
    ]
  }
}

/** The other parts were looked at with settings that the server may not have. */
function describeOther(name: string, configured: Place): Finding {
  return warning(
    'ports',
    `The server listens on ${name}, and not on ${configured.name} as the settings here say.`,
    'Give the flags and variables here that the server has.',
  )
}

function describeVersion(runs: string, version: string): Finding[] {
  if (runs === version) return []
  return [
    warning('version', `Version ${runs} is running, and this program is ${version}.`, 'Restart the server.'),
  ]
}

/** The server's own report about its parts (/readyz), if it tells details to this machine. */
async function readChecks(ask: (path: string) => Promise<Response>): Promise<Finding[]> {
  const { checks = {} } = (await (await ask(FILES.ready.path)).json()) as { checks?: Record<string, string> }
  return Object.entries(checks).flatMap(([part, word]) =>
    word === 'ok' ? [] : [problem(part, 'The running server is not content with it.', word)],
  )
}

async function tryPorts(config: Config, bindings: readonly Binding[]): Promise<Finding[]> {
  const [metricsAddress = '', metricsPort = '0'] =
    /^\[?(.*?)\]?:(\d+)$/.exec(config.metricsListen ?? '')?.slice(1) ?? []
  const wanted = [
    ...bindings.map(({ address }) => ({ address, port: config.port, flag: '--port' })),
    ...bindings.map(({ address }) => ({ address, port: config.httpPort ?? 0, flag: '--http-port' })),
    { address: metricsAddress || '127.0.0.1', port: Number(metricsPort), flag: '--metrics-listen' },
  ].filter(({ address, port }) => port !== 0 && !isUnixHost(address))
  const findings = (await Promise.all(wanted.map(tryPort))).filter((found) => found !== null)
  return findings.length > 0 ? findings : [fine('ports', `Port ${config.port} is free; no server runs.`)]
}

type Wanted = { address: string; port: number; flag: string }

async function tryPort({ address, port, flag }: Wanted): Promise<Finding | null> {
  const code = await codeOfListening(address, port)
  // The server skips ::1 on a machine without IPv6.
  if (code === null || (address === '::1' && code !== 'EADDRINUSE')) return null
  const said = `Port ${port} on ${address} cannot be listened on (${code}).`
  return problem('ports', said, REMEDIES[code]?.replace('{flag}', flag) ?? `Choose another ${flag}.`)
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

async function examineBaseUrl({ baseUrl }: Config, network: Network): Promise<Finding[]> {
  if (baseUrl === null) return []
  const { hostname } = new URL(baseUrl)
  try {
    await network.lookUp(hostname.replace(/^\[|\]$/g, ''))
    return [fine('names', `${hostname} of --base-url has an address.`)]
  } catch {
    const said = `The name ${hostname} of --base-url has no address here: links would lead nowhere.`
    return [warning('names', said, 'Enter it in the DNS or the hosts file, or correct --base-url.')]
  }
}

function examineProxies({ baseUrl, trustedProxies, tls, host }: Config): Finding[] {
  const anybody = trustedProxies.find((network) => /\/0$/.test(network))
  if (anybody !== undefined) {
    const said = `--trusted-proxy ${anybody} believes everybody who says where a request came from.`
    return [problem('proxies', said, 'Name the addresses of your proxies alone.')]
  }
  const isLocal = LOOPBACK.test(host) || isUnixHost(host)
  const isPublic = baseUrl !== null && !LOOPBACK.test(new URL(baseUrl).hostname)
  if (isLocal && isPublic && trustedProxies.length === 0) {
    const said =
      'The base URL is public and the server listens here alone, but no proxy is declared: everybody counts as one client.'
    const proxy = isUnixHost(host) ? 'unix' : '127.0.0.1'
    return [
      warning('proxies', said, `Start with --trusted-proxy ${proxy}, or with the address of your proxy.`),
    ]
  }
  if (!isLocal && tls === 'off' && !baseUrl?.startsWith('https:')) {
    const said = 'The network can read what is sent: there is no TLS.'
    return [
      warning(
        'proxies',
        said,
        'Use --lan or --tls, or put a proxy with TLS in front and name it in --base-url.',
      ),
    ]
  }
  return [
    fine(
      'proxies',
      trustedProxies.length === 0 ? 'None is needed.' : `Trusted: ${trustedProxies.join(', ')}.`,
    ),
  ]
}
