# SPDX-License-Identifier: Apache-2.0
package Test::Certificates;

# Keys and certificates for a test's servers and clients, made by openssl once
# per test, in a directory of its own that goes with it.
#
#   my $dir = Test::Certificates::directory();
#   # a.test-ec.crt a.test-ec.key a.test-rsa.crt ... b.test-...; all of ca.crt
#   # client.crt client.key: of client-ca.crt; stranger.crt: of no authority

use strict;
use warnings;
use File::Temp qw(tempdir);
use Test::Processes qw(slurp);

my %kinds = (ec => [qw(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1)],
    rsa => [qw(-newkey rsa:2048)]);
my $made;

sub _openssl {
    my ($dir, @args) = @_;
    my $out = "$dir/openssl.out";
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', $out;
        open STDERR, '>&', \*STDOUT;
        exec 'timeout', 60, 'openssl', @args or POSIX::_exit(127);
    }
    waitpid $pid, 0;
    die "openssl @args:\n" . slurp($out) if $?;
}

# One key with its certificate, by that of another name or its own.
sub _certificate {
    my ($dir, $name, $kind, $subject, $issuer, @extensions) = @_;
    _openssl($dir, qw(req -x509 -nodes -days 30), @{ $kinds{$kind} },
        '-subj', $subject, '-keyout', "$dir/$name.key", '-out',
        "$dir/$name.crt", $issuer
            ? ('-CA', "$dir/$issuer.crt", '-CAkey', "$dir/$issuer.key")
            : (),
        map { ('-addext', $_) } @extensions);
}

sub directory {
    return $made if $made;
    my $dir = tempdir('cpuaff-tls-XXXXXX', DIR => '/tmp', CLEANUP => 1);
    chmod 0755, $dir;
    _certificate($dir, $_, 'ec', "/O=mod_cpuaffinity/CN=$_", undef)
        for qw(ca client-ca stranger);
    for my $name (qw(a.test b.test)) {
        _certificate($dir, "$name-$_", $_, "/O=mod_cpuaffinity/CN=$name", 'ca',
            "subjectAltName=DNS:$name,DNS:localhost,IP:127.0.0.1",
            'basicConstraints=critical,CA:FALSE') for sort keys %kinds;
    }
    _certificate($dir, 'client', 'ec', '/O=mod_cpuaffinity/CN=client one',
        'client-ca', 'basicConstraints=critical,CA:FALSE');
    return $made = $dir;
}

1;
