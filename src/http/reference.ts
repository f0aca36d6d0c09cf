// Generates the OpenAPI document of a table of routes with Elysia's plugin, which is loaded with the first
// document.

import type { ElysiaSwaggerConfig } from '@elysiajs/swagger'
import { type DocumentDecoration, Elysia } from 'elysia'
import { publicPath, routedPath } from './door/paths.ts'
import type { Endpoint } from './urls.ts'

type DescribedRoute = { url: Endpoint; detail: DocumentDecoration }

/** The plugin's default path, in an app without a socket. */
const GENERATED = 'http://localhost/swagger/json'

/**
 * Runs the plugin in an app without a socket. Its own page, which would load scripts from other sites, is not
 * used.
 */
export async function generateDocument(
  routes: readonly DescribedRoute[],
  documentation: NonNullable<ElysiaSwaggerConfig['documentation']>,
): Promise<object> {
  const { swagger } = await import('@elysiajs/swagger')
  const app = new Elysia().use(swagger({ documentation, excludeStaticFile: false }))
  for (const { url, detail } of routes) app.route(url.method, routedPath(url.path), () => '', { detail })
  const answer = await app.handle(new Request(GENERATED))
  const document = await answer.json()
  const paths = Object.entries(document.paths).map(([path, item]) => [publicPath(path), item])
  return { ...document, paths: Object.fromEntries(paths) }
}
