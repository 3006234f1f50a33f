# SPDX-License-Identifier: Apache-2.0
# What the oracle takes for a difference: the servers it compares are started
# until their answers with several ranges are equally long, so that the length
# counts like every other byte.
use strict;
use warnings;
use Test::Exchange;
use Test::Httpd;
use Test::More;

# A server that has these boundaries, one after the other.
package Scripted {
    sub new { my ($class, @b) = @_; return bless { boundaries => [@b] }, $class }
    sub start { my ($self) = @_; $self->{now} = shift @{ $self->{boundaries} } }
    sub stop { my ($self) = @_; return ++$self->{stopped} }

    sub get {
        my ($self) = @_;
        return { head => "HTTP/1.1 206 Partial Content\r\nContent-Type: "
                . "multipart/byteranges; boundary=$self->{now}\r\n\r\n" };
    }
}

my $whole = '0123456789abcdef' =~ s/^0/f/r;
my ($a, $b) = (Scripted->new($whole),
    Scripted->new(substr($whole, 1), substr($whole, 2), $whole, $whole));
ok Test::Exchange::start_alike('/x', $a, $b), 'two servers are started';
is $a->{stopped} // 0, 0, 'one of them once';
is $b->{stopped}, 2, 'the other until its boundary has all digits';
ok !Test::Exchange::start_alike('/x', Scripted->new(('1') x 99)),
    'there is an end to it';

# httpd as it is: the boundary is as long as all that depends on it says, and
# remains the same.
my $h = Test::Httpd->new(module => 0);
ok Test::Exchange::start_alike('/1k.txt', $h), 'a real one';
my %seen;
for my $n (1 .. 10) {
    my $r = $h->get('/1k.txt',
        args => [ '-r', '0-0,2-3', $n % 2 ? '-I' : () ]);
    $seen{$1}++ if $r->{head} =~ /^Content-Length: (\d+)/m;
    $seen{length $1}++ if $r->{head} =~ /boundary=(\w+)/;
}
my ($length) = grep { $_ > 16 } keys %seen;
is $seen{16}, 10, 'always of sixteen digits';
is_deeply [ map { $seen{$_} } $length ], [10],
    "always of one length ($length), a HEAD too";

# Exchange numbers 0 and 1 in two servers' logs: one byte more or less in %O.
sub differences {
    my ($mine, $theirs) = @_;
    my @logs = map { $h->write_file("logs/$_->[0]", $_->[1]) }
        [ 'a', $mine ], [ 'b', $theirs ];
    my $e = Test::Exchange->new(ports => [ [11111], [22222] ], logs => \@logs);
    my $x = { number => 0, count => 1, steps => [] };
    $e->_compare_logs($x);
    return scalar @{ $e->{differences} };
}
my $line = Test::Exchange::address(0) . " \"GET / HTTP/1.1\" 206 I=9 O=";
is differences("${line}195\n", "${line}195\n"), 0, 'the same number of bytes';
is differences("${line}195\n", "${line}194\n"), 1, 'one less is a difference';
$h->finish;
done_testing;
