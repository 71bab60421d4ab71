import { goToSignIn } from '../api/sign-in.ts';
import { t } from '../text/text.ts';
import { Icon } from './icons.tsx';

/** Leaves for the login page of the identity provider; the way back ends at this page. */
export function SignInButton({ className }: { readonly className: string }) {
  return (
    <button type="button" className={className} onClick={() => void goToSignIn()}>
      <Icon name="avatar" />
      {t('signIn.signIn')}
    </button>
  );
}
