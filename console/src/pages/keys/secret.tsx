import { graphqlUrl } from '../../api/addresses.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Row, Small } from '../../parts/looks/lines.tsx';
import { Note } from '../../parts/looks/panels.tsx';
import { t } from '../../text/text.ts';

/** The secret, and a request that uses it. */
export function Secret({ secret }: { readonly secret: string }) {
  const code = `curl -s ${graphqlUrl} -H 'authorization: Bearer ${secret}' \\
  -H 'content-type: application/json' -d '{"query":"{ caller { id kind } }"}'`;
  return (
    <Note role="status">
      <div className="flex flex-col gap-2 flex-1 min-w-0">
        <p>{t('keys.once')}</p>
        <Row as="p">
          <code className="wrap-anywhere flex-1 min-w-0">{secret}</code>
          <CopyButton text={secret} />
        </Row>
        <Row as="p">
          <Small className="flex-1 min-w-0">{t('keys.try')}</Small>
          <CopyButton text={code} />
        </Row>
      </div>
    </Note>
  );
}
