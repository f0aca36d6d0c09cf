// Scripts and styles that are embedded in the binary, served under names that change with their content.

import swaggerStyle from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import swaggerScript from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import { DomainError } from '../../domain/errors.ts'
import type { Asked } from '../router.ts'
import docsStart from './docs-start.js' with { type: 'text' }
import pagesStyle from './style.css' with { type: 'text' }

type Asset = { type: string; body: () => string | Blob }

const CSS = 'text/css; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'

export type Assets = ReturnType<typeof createAssets>

/** `version` is the application's: what comes from packages changes with it. `basePath` is the one in --base-url. */
export function createAssets({ version, basePath }: { version: string; basePath: string }) {
  const names = {
    style: `pages-${fingerprint(pagesStyle)}.css`,
    docsStart: `docs-${fingerprint(docsStart)}.js`,
    swaggerScript: `swagger-ui-${version}.js`,
    swaggerStyle: `swagger-ui-${version}.css`,
  }
  const assets = new Map<string, Asset>([
    [names.style, { type: CSS, body: () => pagesStyle }],
    [names.docsStart, { type: SCRIPT, body: () => docsStart }],
    [names.swaggerScript, { type: SCRIPT, body: () => Bun.file(swaggerScript) }],
    [names.swaggerStyle, { type: CSS, body: () => Bun.file(swaggerStyle) }],
  ])

  function answer({ name }: { name: string }): Response {
    const asset = assets.get(name)
    if (asset === undefined) throw new DomainError('not_found', 'not-found')
    return new Response(asset.body(), {
      headers: {
        'content-type': asset.type,
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
      },
    })
  }

  /** Where a page finds an asset: only the path, so that it is always the page's own origin. */
  function hrefOf(name: keyof typeof names): string {
    return `${basePath}/assets/${names[name]}`
  }

  return { answer: ({ params }: Asked) => answer({ name: params.name ?? '' }), hrefOf }
}

function fingerprint(text: string): string {
  return Bun.hash(text).toString(36)
}
