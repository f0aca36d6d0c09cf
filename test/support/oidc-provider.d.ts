declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  class Provider {
    constructor(issuer: string, configuration: object)
    callback(): RequestListener
  }
  export = Provider
}
