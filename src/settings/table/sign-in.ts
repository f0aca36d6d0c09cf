// Settings of sign-in by a provider or a proxy, and of who may still use a password.

import { plainText } from '../brand-parsers.ts'
import { choices, file, numbers, section } from '../setting.ts'
import { claimValue, headerName, issuerUrl, mailAddress, plainWord } from '../sign-in-parsers.ts'

export const signInSettings = section('Signing in by others', {
  oidcIssuer: {
    placeholder: 'url',
    parse: issuerUrl,
    default: null,
    defaultWords: 'no provider',
    help: 'OpenID Connect provider that signs people in, exactly as it calls itself, such as https://id.example/realms/staff; needs --oidc-client-id and --base-url',
  },
  oidcClientId: {
    placeholder: 'text',
    parse: plainWord,
    default: null,
    help: 'Name of this server at the provider; its redirect URI there is the base URL and /sign-in/oidc/callback',
  },
  oidcClientSecret: {
    placeholder: 'text',
    parse: plainWord,
    default: null,
    secret: true,
    file: true,
    help: 'Secret of this server at the provider; ONCEBOX_OIDC_CLIENT_SECRET_FILE keeps it out of the command line; without one it is a public client',
  },
  oidcCa: {
    ...file,
    defaultWords: "the system's",
    help: "Certificates in PEM of the authority that signed the provider's certificate; read at the start, and with the provider's metadata",
  },
  oidcName: {
    placeholder: 'text',
    parse: plainText(40),
    default: null,
    defaultWords: 'the host of the provider',
    help: 'Name of the provider on the button, such as "Example GmbH"',
  },
  oidcSignup: {
    ...choices('no', 'yes'),
    default: 'no',
    help: 'Whether the first sign-in of a person with a verified address makes an account, within --signup-domains; otherwise invitations do',
  },
  oidcAdminGroup: {
    placeholder: 'claim=value',
    parse: claimValue,
    default: null,
    help: 'Claim that makes an administrator, such as groups=oncebox-admins; read at each sign-in, so who lacks it is none any more',
  },
  authHeader: {
    placeholder: 'header',
    parse: headerName,
    default: null,
    defaultWords: 'no header',
    help: 'Header in which a proxy names the address of a person it has signed in, such as Remote-Email; needs --host unix: or --auth-header-secret-file',
  },
  authHeaderSecretFile: {
    ...file,
    help: 'File with the secret that the proxy sends as X-Oncebox-Proxy-Secret, of at least 16 characters; without it the header is ignored',
  },
  passwordSignIn: {
    ...choices('yes', 'admin', 'no'),
    default: 'yes',
    help: 'Who may sign in with a password: all accounts, administrators, or only the account of --break-glass, which "admin" and "no" need',
  },
  breakGlass: {
    placeholder: 'address',
    parse: mailAddress,
    default: null,
    help: 'Account that always signs in with its password and never otherwise; each use is logged and told to administrators',
  },
  sessionHours: {
    ...numbers('1', '720'),
    default: '12',
    help: 'Hours after which a sign-in by a provider or proxy ends',
  },
  tokenPauseDays: {
    ...numbers('0', '3650'),
    default: '90',
    help: 'Days without a sign-in after which the API tokens of an account without a password pause, until its next sign-in; 0 is never',
  },
})
