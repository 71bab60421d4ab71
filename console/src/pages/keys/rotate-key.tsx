import { useMutation } from '@apollo/client/react';
import { useState } from 'react';

import { graphqlUrl } from '../../api/addresses.ts';
import { RotateServiceKeyDocument } from '../../api/documents/keys.ts';
import { CopyButton } from '../../parts/buttons.tsx';
import { SelectField } from '../../parts/controls/fields.tsx';
import { Modal } from '../../parts/controls/modal.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { Help } from '../../parts/looks/inputs.tsx';
import { Row, Small } from '../../parts/looks/lines.tsx';
import { Note } from '../../parts/looks/panels.tsx';
import { Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';

const HOUR = 3_600;
/** How long the secret before works on, in seconds, by the names of their texts. */
const GRACES = { now: 0, hour: HOUR, day: 24 * HOUR, week: 7 * 24 * HOUR } as const;

interface RotateKeyProps {
  readonly id: string;
  readonly name: string;
}

/** Gives a key another secret, with time for programs to change theirs. */
export function RotateKey({ id, name }: RotateKeyProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button size="small" onClick={() => setIsOpen(true)}>
        {t('keys.rotate')}
      </Button>
      {isOpen && <RotateDialog id={id} name={name} onClose={() => setIsOpen(false)} />}
    </>
  );
}

function RotateDialog({ id, name, onClose }: RotateKeyProps & { readonly onClose: () => void }) {
  const [grace, setGrace] = useState<keyof typeof GRACES>('day');
  const [rotate, { data, error, loading }] = useMutation(RotateServiceKeyDocument);
  const start = () => void rotate({ variables: { id, graceSeconds: GRACES[grace] } }).catch(() => undefined);
  const isDone = data !== undefined && data !== null;
  return (
    <Modal
      title={t('keys.rotateTitle', { name })}
      onClose={onClose}
      foot={
        !isDone && (
          <Button kind="primary" className="ml-auto" disabled={loading} onClick={start}>
            {t('keys.rotate')}
          </Button>
        )
      }
    >
      {isDone ? (
        <Secret secret={data.rotateServiceKey.secret} />
      ) : (
        <SelectField
          label={t('keys.grace')}
          value={grace}
          onChange={({ target }) => setGrace(target.value as keyof typeof GRACES)}
          options={(Object.keys(GRACES) as (keyof typeof GRACES)[]).map((one) => [
            one,
            t(`keys.grace.${one}`),
          ])}
        >
          <Help>{t('keys.graceHelp')}</Help>
        </SelectField>
      )}
      {error !== undefined && <Problem error={error} />}
    </Modal>
  );
}

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
