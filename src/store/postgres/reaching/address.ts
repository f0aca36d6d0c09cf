// Opens connections to the server of --database-url.

import { readFileSync } from 'node:fs'
import { SQL } from 'bun'
import { isKeyOf, readCertificate } from '../../../crypto/certificate-facts.ts'
import { type DatabaseAddress, presentDatabaseAddress } from '../../../domain/database-address.ts'
import { databaseClientOptions, isLoopback } from '../../../domain/database-client.ts'
import { DomainError } from '../../../domain/errors.ts'
import { reasonOf } from '../../../domain/system-errors.ts'
import { type Connect, SESSION_SETTINGS } from '../engine/session.ts'

const CONNECT_SECONDS = 10

/** Reads the PEM files of the address once. Throws `conflict` when one cannot be read, or is of another kind. */
export function connectTo(address: DatabaseAddress): Connect {
  requireCertificates(address)
  const options = databaseClientOptions({
    address,
    password: null,
    readFile: (path) => readPem(path, address),
  })
  return (max, onclose) =>
    new SQL({
      ...options,
      connection: SESSION_SETTINGS,
      max,
      connectionTimeout: CONNECT_SECONDS,
      ...(onclose === undefined ? {} : { onclose }),
    })
}

/** What an operator should know about the TLS mode of an address; null when it leaves nothing open. */
export function warnAboutTls(address: DatabaseAddress): string | null {
  const { host, socket, tls } = address
  const { mode } = tls
  if (socket !== null || isLoopback(host) || mode === 'verify-full') return null
  return `The connection to PostgreSQL at ${host} ${WEAKNESSES[mode]}. ${STRONG}`
}

const STRONG = 'Use sslmode=verify-full, with sslrootcert for an authority of your own.'
const WEAKNESSES = {
  disable: 'is not encrypted (sslmode=disable), so nobody else may reach the network in between',
  prefer: 'is encrypted only while nobody in between prevents it, and trusts any server (sslmode=prefer)',
  require: 'is encrypted, but trusts any server (sslmode=require)',
  'verify-ca': 'trusts any server that the authority vouches for, whatever its name (sslmode=verify-ca)',
}

/** The client would tell of an unfit file only when it connects, and without its name. */
function requireCertificates(address: DatabaseAddress): void {
  const { ca, cert, key } = address.tls
  for (const path of [ca, cert]) {
    if (path !== null && !isReadable(() => readCertificate(readPem(path, address))))
      throw unfit(address, `${path} holds no certificate in PEM`)
  }
  if (cert === null || key === null) return
  const pem = { certificate: readPem(cert, address), key: readPem(key, address) }
  if (!isReadable(() => isKeyOf(pem))) throw unfit(address, `${key} holds no key in PEM without a password`)
  if (!isKeyOf(pem)) throw unfit(address, `${key} is not the key of ${cert}`)
}

function isReadable(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch (cause) {
    if (cause instanceof DomainError) throw cause
    return false
  }
}

function readPem(path: string, address: DatabaseAddress): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw unfit(address, `${path}, which the address names, cannot be read: ${reasonOf(cause)}`)
  }
}

function unfit(address: DatabaseAddress, why: string): DomainError {
  return new DomainError('conflict', `${presentDatabaseAddress(address)}: ${why}.`)
}
