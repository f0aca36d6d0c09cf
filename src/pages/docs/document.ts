// The parts of an OpenAPI document that the reference shows, and the example requests made from it.

export type Schema = {
  $ref?: string
  type?: string
  format?: string
  description?: string
  enum?: readonly unknown[]
  default?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
  nullable?: boolean
  properties?: Record<string, Schema>
  required?: readonly string[]
  items?: Schema
}

type DocumentedParameter = {
  name: string
  in: string
  required?: boolean
  description?: string
  schema: Schema
}

type Content = Record<string, { schema: Schema; example?: unknown }>

export type DocumentedOperation = {
  operationId: string
  summary: string
  description?: string
  tags: readonly string[]
  parameters?: readonly DocumentedParameter[]
  requestBody?: { content: Content }
  responses: Record<string, { description: string; content: Content }>
  security: readonly Record<string, unknown>[]
}

export type ApiDocument = {
  info: { version: string; description: string }
  tags: readonly { name: string; description: string }[]
  paths: Record<string, Record<string, DocumentedOperation>>
  components: { schemas: Record<string, Schema> }
}

/** An operation with its method and path. */
export type DocumentedEndpoint = { method: string; path: string; operation: DocumentedOperation }

export function listEndpoints({ paths }: ApiDocument): DocumentedEndpoint[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

/** Returns the name of a component schema; null for an inline schema. */
export function nameOf({ $ref }: Schema): string | null {
  return $ref?.split('/').at(-1) ?? null
}

export function needsToken({ security }: DocumentedOperation): boolean {
  return security.length > 0 && security.every((way) => Object.keys(way).length > 0)
}

const PLACEHOLDER = /[{](\w+)[}]/g
const JSON_TYPE = 'application/json'

/**
 * Returns an example request with curl. The token is in a variable, because other users can see a process's
 * arguments.
 */
export function curlLine({ method, path, operation }: DocumentedEndpoint, baseUrl: string): string {
  const shown = path.replace(PLACEHOLDER, (_, name: string) => name.toUpperCase())
  const example = operation.requestBody?.content[JSON_TYPE]?.example
  const parts = [
    `curl${method === 'GET' || (method === 'POST' && example !== undefined) ? '' : ` -X ${method}`}`,
    `'${baseUrl}${shown}'`,
    ...(needsToken(operation) ? ['-H "Authorization: Bearer $ONCEBOX_TOKEN"'] : []),
    ...(example === undefined ? [] : [`-H 'Content-Type: ${JSON_TYPE}'`, `-d '${JSON.stringify(example)}'`]),
  ]
  return parts.join(' \\\n  ').replace(/^(curl[^\n]*) \\\n {2}/, '$1 ')
}
