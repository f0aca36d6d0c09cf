// The frame of every page, and from markup to text.

import type { ComponentChildren, JSX } from 'preact'
import { renderToString } from 'preact-render-to-string'

export type PageProps = { title: string; children: ComponentChildren; stylesheet?: string }

export function Page({ title, children, stylesheet }: PageProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
        {stylesheet === undefined ? null : <link rel="stylesheet" href={stylesheet} />}
      </head>
      <body>
        <main>{children}</main>
      </body>
    </html>
  )
}

export function renderPage(page: JSX.Element): string {
  return `<!doctype html>${renderToString(page)}`
}
