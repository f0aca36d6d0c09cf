// Opens the certificate that the settings ask for.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { Now } from '../domain/time.ts'
import type { Network } from '../http/door/listener.ts'
import type { Certificate } from '../lan/certificate.ts'
import { openCertificateFiles } from '../lan/certificate-files.ts'
import { type CertificateWatch, createCertificateWatch } from '../lan/certificate-watch.ts'
import { ownNames } from '../lan/own-names.ts'
import type { Log } from '../operating/log.ts'
import type { Config } from '../settings/table.ts'
import { dataFolder } from '../store/folder/data-folder.ts'
import { createClosedFile, removeUnfinished } from '../store/folder/durable-files.ts'
import { isReadableByOthers } from '../store/folder/key-file.ts'

export type Tls = { certificate: Certificate; watch: CertificateWatch }

type TlsOptions = {
  config: Config
  log: Log
  /** The system's clock, because clients compare the dates of certificates with their own. */
  now: Now
  network: Pick<Network, 'listAddresses' | 'hostName'>
}

/**
 * Returns null when TLS is off. Call it after the store is open, because the authority lies in its folder.
 * Throws `conflict` when the certificate cannot be used.
 */
export async function openTls(options: TlsOptions): Promise<Tls | null> {
  const certificate = await openCertificate(options)
  return certificate && { certificate, watch: createCertificateWatch({ certificate, log: options.log }) }
}

async function openCertificate({ config, log, now, network }: TlsOptions): Promise<Certificate | null> {
  const { tls, tlsCert, tlsKey } = config
  if (tls === 'off') return null
  if (tls === 'files') {
    const read = (path: string) => readFile(path, 'utf8')
    return openCertificateFiles({ certPath: tlsCert ?? '', keyPath: tlsKey ?? '', readFile: read, now })
  }
  const folder = dataFolder(config.dataDir)
  const authorityPath = config.tlsAuthorityKey ?? folder.tlsAuthority
  if (existsSync(authorityPath) && isReadableByOthers(authorityPath)) {
    log.warn(`others on this machine can read the authority ${authorityPath}: close it with chmod 600`)
  }
  // Clean up here: opening the store has only cleaned up the data folder.
  removeUnfinished(dirname(authorityPath), basename(authorityPath))
  // Loaded only when needed, because loading it takes longer than the rest of a start.
  const { openOwnCertificate } = await import('../lan/own-certificate.ts')
  return openOwnCertificate({
    authorityFile: createClosedFile(authorityPath),
    leafFile: createClosedFile(folder.tlsCertificate),
    names: ownNames({ ...config, hostName: network.hostName() }),
    listAddresses: network.listAddresses,
    now,
    onNewAuthority: (why, { fingerprint }) =>
      log.warn({ fingerprint }, `made an authority, which devices have to trust: ${why}`),
  })
}
