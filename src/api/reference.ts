// The reference of the API as OpenAPI 3, with the limits of this instance. Made from the routes when it is first asked for.

import type { PushLimits } from '../domain/new-push.ts'
import type { Route } from '../http/door/router.ts'
import { ANSWERS } from './answer-tables.ts'
import { describeGuard } from './operations.ts'
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

export type ReferenceOptions = {
  routes: readonly Route[]
  limits: PushLimits
  version: string
  anonymousAccess: boolean
}

/** Makes the document once. */
export function createReference(options: ReferenceOptions): () => object {
  let reference: object | null = null
  return () => {
    reference ??= describe(options)
    return reference
  }
}

function describe({ routes, limits, version, anonymousAccess }: ReferenceOptions): object {
  const document = {
    openapi: '3.0.3',
    info: { title: 'Oncebox', version, description: DESCRIPTION, license: { name: 'Apache-2.0' } },
    // Relative to this document, so that it works behind every proxy and below every sub-path.
    servers: [{ url: '..' }],
    tags: [
      { name: 'Pushes', description: 'Create, hand over, retrieve.' },
      { name: 'Owner', description: 'What an account sees of its own pushes.' },
      { name: 'Notices', description: 'What became of your pushes.' },
      { name: 'Requests', description: 'Ask for a secret: others send it to you.' },
      { name: 'Instance', description: 'About this server.' },
      {
        name: 'Previous version',
        description:
          'For clients of version 1: the same pushes under older paths and wrappers. A language may stand in front, as in `/en/p.json`.',
      },
    ],
    components: {
      schemas: { ...createRequests(limits), ...ANSWERS },
      securitySchemes: SECURITY_SCHEMES,
    },
    paths: describePaths(routes, anonymousAccess),
  }
  // Drops the symbols that TypeBox keeps on its schemas.
  return JSON.parse(JSON.stringify(document))
}

/** The operations of the routes that have one, by path and method. */
function describePaths(routes: readonly Route[], anonymousAccess: boolean) {
  const paths: Record<string, Record<string, object>> = {}
  for (const { url, detail } of routes) {
    if (detail === undefined) continue
    const path = url.path.replace(/:(\w+)/g, '{$1}')
    const operation = describeGuard({ detail, guard: url.guard, anonymousAccess })
    paths[path] = { ...paths[path], [url.method.toLowerCase()]: operation }
  }
  return paths
}
