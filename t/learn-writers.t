# SPDX-License-Identifier: Apache-2.0
# Directives besides RequestHeader by which httpd changes the fields of a
# request, after it was read: what the loop makes of its bytes would be
# another answer, or another log line. Stock httpd says what is right.
use strict;
use warnings;
use Test::Httpd;
use Test::More;
use Test::Twin;

# Sections that refuse: a name, directives, a field whose request tells.
my @refused = (
    [ 'fake', 'AuthBasicFake demo pass', 'X-Some: a' ],
    [ 'fake-expr', q(AuthBasicFake "%{req_novary:X-User}" pass), 'X-User: b' ],
    [ 'protocol', "AddOutputFilterByType DEFLATE text/css\n"
        . 'FilterProtocol BYTYPE:DEFLATE byteranges=no', 'Range: bytes=0-9' ],
    [ 'declare', "FilterDeclare BYTYPE:DEFLATE CONTENT_SET\n"
        . 'AddOutputFilterByType DEFLATE text/css', 'Range: bytes=0-9' ],
);
my @learned = (
    [ 'none', '' ], [ 'off', 'AuthBasicFake off' ],
    [ 'by-type', 'AddOutputFilterByType DEFLATE text/css' ],
);
my $conf = <<'END';
<VirtualHost *:@PORT@>
ServerName shown.test
DocumentRoot @ROOT@/htdocs
CustomLog logs/shown "%m %U %s %B [%{authorization}i] [%{Range}i]"
END
for (@refused, @learned) {
    $conf .= "<Directory \@ROOT\@/htdocs/$_->[0]>\n$_->[1]\n</Directory>\n";
}
$conf .= "</VirtualHost>\n";
my $t = Test::Twin->new(conf => $conf,
    modules => [qw(auth_basic deflate filter)]);
$t->file("$_->[0]/a.txt", 'some text ' x 100) for @refused, @learned;
$t->start;
$t->settle;

sub to { my ($name, @f) = @_; $t->request("/$name/a.txt", 'Host: shown.test', @f) }

for (@learned) {
    my $r = to($_->[0]);
    ok $t->learned($r), "$_->[0]: learned" or diag $t->fixed->log;
    $t->same("$_->[0]: as stock", [ $r, to($_->[0], 'Range: bytes=0-9'), $r ]);
}
for (@refused) {
    my ($name, $text, $b) = @$_;
    my ($r, $other) = (to($name), to($name, $b));
    my $before = $t->hits;
    $t->learn($r);
    $t->same("$name: A", [ $r, $r ]);
    $t->same("$name: B", [ $other, $r, $other ]);
    is $t->hits, $before, "$name: refused";
}
# Each line that stock httpd writes, and no other.
my @lines = map {
    my %seen = map { $_ => 1 } grep !/cpuaff/, Test::Httpd::slurp($_->root . '/logs/shown')
        =~ /^(.*)\n/mg;
    join "\n", sort keys %seen;
} $t->both;
is $lines[1], $lines[0], 'the logs show the same fields';
like $lines[0], qr/Basic ZGVtbzpwYXNz/, '... one of which is httpd\'s';
$t->finish;
done_testing;
