import { useQuery } from '@apollo/client/react';
import { type FormEvent, useState } from 'react';

import { useCredentialKind, useCallerName } from '../../api/caller.ts';
import { SignOutUrlDocument } from '../../api/documents/keys.ts';
import { signInWithKey, signOut } from '../../api/session.ts';
import { InputField } from '../../parts/controls/fields.tsx';
import { Button, buttonLook } from '../../parts/looks/button.tsx';
import { Help } from '../../parts/looks/inputs.tsx';
import { Row } from '../../parts/looks/lines.tsx';
import { Card, CardHead, Note } from '../../parts/looks/panels.tsx';
import { SignInButton, problemText } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';

/** Who this tab is, and the ways in: the identity provider, or a service key for this tab. */
export function SignIn() {
  const kind = useCredentialKind();
  const [hasLeft, setLeft] = useState(false);
  return (
    <Card>
      <CardHead title={t('signIn.title')} />
      {kind === null && hasLeft && <StillThere />}
      {kind === null ? <WaysIn /> : <SignedIn kind={kind} onLeave={() => setLeft(kind === 'session')} />}
    </Card>
  );
}

/** After a sign-out the login page may let the same person in again unasked: the next one at this browser can end that. */
function StillThere() {
  const { data } = useQuery(SignOutUrlDocument);
  const url = data?.signOutUrl;
  if (url === undefined || url === null) return null;
  return (
    <Note role="status">
      <span className="flex-1 min-w-0">{t('signIn.out')}</span>
      <a className={buttonLook({ size: 'small' })} href={url}>
        {t('signIn.outThere')}
      </a>
    </Note>
  );
}

interface SignedInProps {
  readonly kind: 'session' | 'key';
  readonly onLeave: () => void;
}

function SignedIn({ kind, onLeave }: SignedInProps) {
  const name = useCallerName();
  const [failure, setFailure] = useState<string | null>(null);
  const leave = () => {
    onLeave();
    signOut().catch((error: unknown) => setFailure(problemText(error)));
  };
  return (
    <Row wrap className="p-4">
      <div className="flex flex-col gap-2 flex-1 min-w-0">
        <p className="font-medium">{name}</p>
        <p className="text-muted">{t(kind === 'key' ? 'keys.signedIn' : 'signIn.session')}</p>
        {failure !== null && <p role="alert">{failure}</p>}
      </div>
      <Button onClick={leave}>{t('keys.signOut')}</Button>
    </Row>
  );
}

function WaysIn() {
  const [key, setKey] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (key.trim() === '') return;
    signInWithKey(key.trim());
    setKey('');
  };
  return (
    <>
      <Row wrap className="p-4">
        <p className="text-muted flex-1 min-w-0">{t('signIn.text')}</p>
        <SignInButton className={buttonLook({ kind: 'primary' })} />
      </Row>
      <form className="p-4 gap-3 flex flex-col min-w-0" onSubmit={submit}>
        <InputField
          label={t('keys.key')}
          type="password"
          autoComplete="off"
          value={key}
          onChange={({ target }) => setKey(target.value)}
        >
          <Help>{t('keys.help')}</Help>
        </InputField>
        <Button type="submit" className="self-start">
          {t('keys.signIn')}
        </Button>
      </form>
    </>
  );
}
