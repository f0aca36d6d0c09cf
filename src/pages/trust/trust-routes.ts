// The trust page and the files of the authority. They answer over plain http too, before a device trusts this server.

import { DomainError } from '../../domain/errors.ts'
import { answerAttachment } from '../../http/answers.ts'
import type { Route } from '../../http/door/router.ts'
import { FILES, PAGES } from '../../http/urls.ts'
import type { Authority } from '../../lan/certificate.ts'
import type { PageGuards } from '../page-guards.ts'
import { profileFor } from './mobileconfig.ts'
import { AUTHORITY_FILES, createTrustPage, type TrustPageOptions } from './trust-page.tsx'

export function createTrustRoutes({ guest }: PageGuards, options: TrustPageOptions): Route[] {
  const { authority } = options
  const files = authority === null ? {} : filesOf(authority)
  return [
    guest(PAGES.trust, createTrustPage(options)),
    {
      url: FILES.authority,
      answer: ({ params: { name = '' } }) => {
        const file = Object.hasOwn(files, name) ? files[name] : undefined
        if (file === undefined) throw new DomainError('not_found', 'not-found')
        return answerAttachment(file.body, { type: file.type, filename: name })
      },
    },
  ]
}

type File = { type: string; body: string | Buffer<ArrayBuffer> }

function filesOf({ certificate, der, fingerprint }: Authority): Record<string, File> {
  const type = 'application/x-x509-ca-cert'
  const name = `Oncebox (${fingerprint.slice(0, 11)})`
  return {
    [AUTHORITY_FILES.cer]: { type, body: Buffer.from(der) },
    [AUTHORITY_FILES.pem]: { type, body: certificate },
    [AUTHORITY_FILES.profile]: {
      type: 'application/x-apple-aspen-config',
      body: profileFor({ der, fingerprint, name }),
    },
  }
}
