// Reads the certificate authority of the server on this machine, without its key, and the names that an
// authority is limited to.

import { readCertificate } from '../crypto/certificate-facts.ts'
import { DomainError } from '../domain/errors.ts'
import { dataFolder } from '../store/folder/data-folder.ts'
import { createClosedFile } from '../store/folder/durable-files.ts'

type AuthorityPlace = { dataDir: string; tlsAuthorityKey: string | null }

/**
 * Returns the authority in PEM, with its fingerprint. Throws `conflict` when there is none, or it cannot be
 * read.
 */
export async function readOwnAuthority({ dataDir, tlsAuthorityKey }: AuthorityPlace) {
  const path = tlsAuthorityKey ?? dataFolder(dataDir).tlsAuthority
  const text = await createClosedFile(path).read()
  const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(text ?? '')?.[0]
  if (certificate === undefined) {
    throw new DomainError(
      'conflict',
      `There is no authority in ${path}. "oncebox serve --tls auto" or "oncebox serve --lan" makes one; name its folder with ` +
        '--data-dir, or another machine as in "oncebox trust https://nas:5100".',
    )
  }
  return { certificate: `${certificate}\n`, fingerprint: readCertificate(certificate).fingerprint }
}

/** Returns the names that an authority is limited to, with all below them; none when it has no limit. */
export async function namesOfAuthority(certificate: string): Promise<string[]> {
  const { namesOfAuthority: read } = await import('../crypto/certificates.ts')
  return read(certificate).map((name) => name.toLowerCase().replace(/^\.+|(?<!\.)\.+$/g, ''))
}
