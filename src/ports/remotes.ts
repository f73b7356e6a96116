import type { Oid } from '../model/ids.ts';

export type PushOutcome =
  | { readonly outcome: 'pushed' }
  /** The remote branch is not an ancestor of what was pushed: fetch, merge again, push again. */
  | { readonly outcome: 'rejected'; readonly message: string };

export interface PullRequest {
  readonly url: string;
  readonly created: boolean;
}

export interface Remotes {
  /** The remote that a branch pushes to: configured, else `origin`, else the only one. Throws `remote_missing`. */
  findRemote(
    branchRef: string,
    wanted: string | undefined,
  ): Promise<{ readonly name: string; readonly branch: string }>;
  /** Pushes a commit to a branch, never forced; the user's pre-push hook runs only where its folder is
   * given. Throws `push_failed`
   * for anything but a rejection. */
  push(
    remote: string,
    commit: Oid,
    branch: string,
    options: { readonly hooksFolder: string | null },
  ): Promise<PushOutcome>;
  /** Fetches one branch into a private ref; null where the remote has no such branch. Touches no other ref. */
  fetch(remote: string, branch: string, into: string): Promise<Oid | null>;
  /** Opens or updates the pull request from `head` into `base`. Throws `pull_request_failed`. */
  openPullRequest(request: {
    readonly head: string;
    readonly base: string;
    readonly title: string;
    readonly body: string;
  }): Promise<PullRequest>;
}
