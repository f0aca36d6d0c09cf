// Checks pages whose style sheets, scripts and icons are served by other nodes than the page.

import type { Node } from '../../test/support/nodes.ts'

/** Resolves to a line for each asset that a page of one running node links to and another node lacks. */
export async function checkPages(nodes: readonly Node[]): Promise<string[]> {
  const running = nodes.flatMap(({ name, server }) => (server === null ? [] : [{ name, url: server.url }]))
  const faults: string[] = []
  for (const { name, url } of running) {
    const page = await (await fetch(`${url}/`)).text()
    const links = new Set(page.match(/\/assets\/[\w-]+\.\w+/g))
    if (links.size === 0) faults.push(`${name} has a page without a style sheet`)
    for (const other of running)
      for (const link of links) {
        const answer = await fetch(`${other.url}${link}`)
        if (!answer.ok) faults.push(`${other.name} lacks ${link} of ${name}: ${answer.status}`)
      }
  }
  return faults
}
