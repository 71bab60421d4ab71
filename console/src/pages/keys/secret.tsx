import { graphqlUrl } from '../../api/addresses.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { t } from '../../text/text.ts';

/** The secret, and a request that uses it. */
export function Secret({ secret }: { readonly secret: string }) {
  const code = `curl -s ${graphqlUrl} -H 'authorization: Bearer ${secret}' \\
  -H 'content-type: application/json' -d '{"query":"{ caller { id kind } }"}'`;
  return (
    <div className="note" role="status">
      <div className="col grow">
        <p>{t('keys.once')}</p>
        <p className="row">
          <code className="grow wrap-anywhere">{secret}</code>
          <CopyButton text={secret} />
        </p>
        <p className="row">
          <span className="c12 mute grow">{t('keys.try')}</span>
          <CopyButton text={code} />
        </p>
      </div>
    </div>
  );
}
