// What the tests use of swagger-client, which has no types.

declare module 'swagger-client' {
  type Call = {
    operationId: string
    parameters: object
    requestBody: object | undefined
    requestContentType?: string
  }
  type Called = { status: number; url: string; body: Record<string, unknown> }
  type Client = { execute(call: Call): Promise<Called> }
  type Options = { url: string; authorizations: Record<string, { value: string }> }
  function SwaggerClient(options: Options): Promise<Client>
  export = SwaggerClient
}
