// The reference of the API as OpenAPI 3, with the limits of this instance. Generated from the routes on the first request.

import type { PushLimits } from '../domain/new-push.ts'
import { type DescribedRoutes, generateDocument } from '../http/reference.ts'
import { ANSWERS } from './answer-tables.ts'
import { createRequests } from './request-tables.ts'

const DESCRIPTION = `Hand over a secret: create a push and share its link. The push expires after a number of views or days.

Every path also answers with \`.json\` at its end. A token, where one is needed, comes from \`oncebox token create EMAIL\`
and goes into \`Authorization: Bearer …\`. \`X-User-Token\`, \`Token …\`, \`Token token=…\`, Basic with the token as user or
password, and the token alone work, too; \`Authorization\` takes precedence over \`X-User-Token\`. An invalid token is
401 everywhere but at \`/version\`. When \`anonymous_access\` is off, every path but \`/version\` needs a token.
Any other path is 404, a known path with another method 405 with \`Allow\`.`

const SECURITY_SCHEMES = {
  token: { type: 'http', scheme: 'bearer', description: 'An API token.' },
  userToken: { type: 'apiKey', in: 'header', name: 'X-User-Token', description: 'The same token.' },
  basic: { type: 'http', scheme: 'basic', description: 'The same token as user or password.' },
} as const

export type ReferenceOptions = { routes: () => DescribedRoutes; limits: PushLimits; version: string }

/** Generates once, then resolves to the same JSON text. The operations are the `detail` of the routes. */
export function createReference(options: ReferenceOptions): () => Promise<string> {
  let reference: Promise<string> | null = null
  return () => {
    reference = reference ?? generate(options)
    return reference
  }
}

async function generate({ routes, limits, version }: ReferenceOptions): Promise<string> {
  const documentation = {
    info: { title: 'Oncebox', version, description: DESCRIPTION, license: { name: 'Apache-2.0' } },
    // Relative to this document, so that it works behind every proxy and below every sub-path.
    servers: [{ url: '..' }],
    tags: [
      { name: 'Pushes', description: 'Create, hand over, retrieve.' },
      { name: 'Owner', description: 'What an account sees of its own pushes.' },
      { name: 'Instance', description: 'About this server.' },
      {
        name: 'Previous version',
        description:
          'For clients of version 1: the same pushes under older paths and wrappers. A language may stand in front, as in `/en/p.json`.',
      },
    ],
    components: {
      // Drops the symbols that TypeBox keeps on its schemas.
      schemas: JSON.parse(JSON.stringify({ ...createRequests(limits), ...ANSWERS })),
      securitySchemes: SECURITY_SCHEMES,
    },
  }
  return generateDocument(routes(), documentation)
}
