const SENDMSG = process.arch === "x64" ? 46 : 211;

/** Perl code that defines `send_away`, which sends an open file over a socket and closes it. The socket is never read. */
export const SEND_AWAY = `use Socket; use IO::Handle; my $byte = "x"; my @sockets;
  sub send_away { my $file = shift;
    socketpair(my $in, my $out, AF_UNIX, SOCK_STREAM, 0) or return 0; push @sockets, $in, $out;
    my $iov = pack("P Q", $byte, 1); my $control = pack("Q i i i x4", 20, 1, 1, fileno $file);
    my $message = pack("x16 P Q P Q i x4", $iov, 1, $control, 24, 0);
    my $is_sent = syscall(${SENDMSG}, fileno $out, $message, 0) > 0; close $file; return $is_sent; }`;

/**
 * Perl code that fills `folder` with files of 8 MiB that have no name and that no process has open. Prints `held <MiB>`
 * after each MiB, and the error that stops it.
 */
export function fillInFlight(folder: string, megabytes: number): string {
  return `${SEND_AWAY} $| = 1; my $held = 0;
    while ($held < ${megabytes}) {
      open(my $file, "+>", "${folder}/file") or die; unlink "${folder}/file";
      for (1 .. 8) { syswrite($file, "x" x 1048576) or do { print "$!\\n"; exit; }; $held++; print "held $held\\n"; }
      send_away($file) or die "sendmsg: $!";
    }`;
}
