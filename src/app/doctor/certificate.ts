// Checks the certificate for TLS: whether it exists, stays valid for a while, and has the name of the base URL. Makes none.

import { readFileSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { readCertificate } from '../../crypto/certificate-facts.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import { DAY } from '../../domain/time.ts'
import { openCertificateFiles } from '../../lan/certificate-files.ts'
import type { Config } from '../../settings/table.ts'
import type { DataFolder } from '../../store/folder/data-folder.ts'
import { type Finding, fine, problem, warning } from './finding.ts'

/** Short for our own certificates, which are renewed long before; longer for others, which somebody has to order. */
const WARN = { auto: 7 * DAY, files: 14 * DAY }

export async function examineCertificate(
  config: Config,
  { folder, now }: { folder: DataFolder; now: number },
): Promise<Finding[]> {
  const { tls } = config
  if (tls === 'off') return []
  try {
    const facts = tls === 'files' ? await readFiles(config, now) : readOwn(folder)
    if (facts === null) return [fine('certificate', 'The next start makes one.')]
    return examineFacts(facts, { config, now, warn: WARN[tls] })
  } catch (cause) {
    const remedy = 'Correct --tls-cert and --tls-key, or the files that they name.'
    return [
      problem(
        'certificate',
        reasonOf(cause),
        tls === 'files' ? remedy : 'Remove the file; the next start makes another.',
      ),
    ]
  }
}

type Facts = { validUntil: number; names: readonly string[] }

async function readFiles({ tlsCert, tlsKey }: Config, now: number): Promise<Facts> {
  const paths = { certPath: tlsCert ?? '', keyPath: tlsKey ?? '' }
  const certificate = await openCertificateFiles({
    ...paths,
    readFile: (path) => readFile(path, 'utf8'),
    now: () => now,
  })
  return factsIn(certificate.current().certificate)
}

function readOwn({ tlsCertificate }: DataFolder): Facts | null {
  if (statSync(tlsCertificate, { throwIfNoEntry: false }) === undefined) return null
  return factsIn(readFileSync(tlsCertificate, 'utf8'))
}

/** Names and addresses together, because a base URL may have either. */
function factsIn(pem: string): Facts {
  const { validUntil, names, addresses } = readCertificate(pem)
  return { validUntil, names: [...names, ...addresses] }
}

function examineFacts(
  { validUntil, names }: Facts,
  { config, now, warn }: { config: Config; now: number; warn: number },
): Finding[] {
  const until = new Date(validUntil).toISOString().slice(0, 10)
  const remedy =
    config.tls === 'auto' ? 'Start the server; it renews the certificate by itself.' : 'Renew it.'
  if (now >= validUntil) return [problem('certificate', `It lapsed on ${until}.`, remedy)]
  if (now >= validUntil - warn) return [warning('certificate', `It lapses on ${until}.`, remedy)]
  const name = config.baseUrl === null ? null : nameIn(config.baseUrl).replace(/^\[|\]$/g, '')
  if (name !== null && !names.some((known) => covers(known.toLowerCase(), name))) {
    const said = `It is not for ${name}, the name of --base-url (it is for ${names.join(', ')}).`
    return [problem('certificate', said, 'Get one for that name, or correct --base-url.')]
  }
  return [fine('certificate', `It is valid until ${until}, for ${names.join(', ')}.`)]
}

/** Without the brackets of an IPv6 address. */
function nameIn(url: string): string {
  return new URL(url).hostname.toLowerCase().replace(/^\[|\]$/g, '')
}

/** A wildcard stands for one label (RFC 9525, 6.3). */
function covers(known: string, name: string): boolean {
  return known === name || (known.startsWith('*.') && known.slice(2) === name.slice(name.indexOf('.') + 1))
}
