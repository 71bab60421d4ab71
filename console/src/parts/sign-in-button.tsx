import { goToSignIn } from '../api/sign-in.ts';
import { Icon } from './icons.tsx';
import { t } from '../text/text.ts';

/** Leaves for the login page of the identity provider; the way back ends at this page. */
export function SignInButton({ className }: { readonly className: string }) {
  return (
    <button type="button" className={className} onClick={() => void goToSignIn()}>
      <Icon name="avatar" />
      {t('signIn.signIn')}
    </button>
  );
}
