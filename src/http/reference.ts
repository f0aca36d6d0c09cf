// Generates the OpenAPI document of a table of routes, from what each says about itself.

import type { ElysiaSwaggerConfig } from '@elysiajs/swagger'
import { type AnyElysia, Elysia } from 'elysia'
import { publicPath } from './door/paths.ts'

export type DescribedRoutes = AnyElysia

/** Where the plugin answers, in an app that serves nobody. */
const GENERATED = '/reference'

/** Runs the plugin in an app without a socket, because the plugin's own page would load scripts from outside. */
export async function generateDocument(
  routes: DescribedRoutes,
  documentation: NonNullable<ElysiaSwaggerConfig['documentation']>,
): Promise<string> {
  const { swagger } = await import('@elysiajs/swagger')
  const app = new Elysia()
    .use(routes)
    .use(swagger({ path: GENERATED, documentation, excludeStaticFile: false }))
  const answer = await app.handle(new Request(`http://localhost${GENERATED}/json`))
  if (!answer.ok) throw new Error(`the reference could not be generated: ${answer.status}`)
  const document = await answer.json()
  const paths = Object.entries(document.paths).map(([path, item]) => [publicPath(path), item])
  return JSON.stringify({ ...document, paths: Object.fromEntries(paths) })
}
