// `oncebox mcp`: lets AI assistants share, request and use secrets without seeing them.

import { dirname, join } from 'node:path'
import { valued } from '../command.ts'
import { anyPath } from '../paths.ts'
import { profilesPath } from '../profiles.ts'
import { serverCommand } from '../server-command.ts'

export const MCP = serverCommand({
  name: 'mcp',
  flags: { config: valued('config <file>', anyPath) },
  act: async ({ client, server, isSignedIn, flags: { config }, shell, app }) => {
    const { forbidCoreDumps } = await import('../exec/core-dumps.ts')
    const { readConfiguration } = await import('../mcp/configuration.ts')
    const { serveProtocol } = await import('../mcp/protocol.ts')
    const { createTools } = await import('../mcp/tools.ts')
    forbidCoreDumps()
    const path = config ?? join(dirname(profilesPath(shell.os)), 'mcp.json')
    const configuration = readConfiguration(path, { mayMiss: config === null })
    const random = app.randomText
    await serveProtocol(shell, createTools({ client, server, isSignedIn, configuration, random, shell }))
  },
})
