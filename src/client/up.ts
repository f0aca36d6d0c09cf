// Asks a server on this machine by its address or Unix socket, for example whether it is alive.

const PATIENCE_MS = 5_000

type ServerHere = { url: string; socket: string | null }

/**
 * Resolves to the members of the response. Does not verify the certificate, which may be issued for another
 * name; sends nothing secret.
 */
export async function askHere({ url, socket }: ServerHere, path: string): Promise<Record<string, unknown>> {
  const answer = await fetch(`${socket === null ? new URL(url).origin : 'http://localhost'}${path}`, {
    headers: { host: 'localhost' },
    redirect: 'manual',
    signal: AbortSignal.timeout(PATIENCE_MS),
    tls: { rejectUnauthorized: false },
    ...(socket === null ? {} : { unix: socket }),
  })
  return Object(await answer.json())
}

/** Whether the server answers and reports that it is up. */
export async function isUp(server: ServerHere): Promise<boolean> {
  return (await askHere(server, '/up').catch(() => null))?.up === true
}
